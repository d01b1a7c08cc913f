// Starts the product on the runtime that the package carries, whatever Node the machine has, and with what was compiled before.
// Plain JavaScript for any Node from 18 on.
'use strict';

const { spawn } = require('node:child_process');
const { existsSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { constants } = require('node:os');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const root = join(__dirname, '..');
const source = join(root, 'src', 'main.ts');
const entry = existsSync(source) ? source : join(root, 'dist', 'src', 'main.js');
// Compiled code is cached next to the program: a user who can write there can change the program anyway. A process that cannot write there
// caches nothing. Set before the first module loads; worker threads read the variable.
const compiled = process.env.NODE_COMPILE_CACHE || join(root, 'node_modules', '.cache', 'tollgate');
// Of a clone; a published package has its packages wherever npm put them.
const needsInstall = `tollgate: nothing is installed in ${root}: run \`npm install\` there once, or \`npm start\`, which does it by itself.`;
const needsRuntime = `tollgate needs Node 24 or newer, this is ${process.version}: install Node 26 (https://nodejs.org), or reinstall with optional dependencies.`;
const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP'];

exports.launch = function launch(args) {
	const major = Number(process.versions.node.split('.')[0]);
	const runtime = major < 26 ? findRuntime() : undefined;
	if (entry === source && !existsSync(join(root, 'node_modules'))) {
		fail(needsInstall);
	} else if (runtime !== undefined) {
		run(runtime, args);
	} else if (major >= 24) {
		process.argv = [process.execPath, entry, ...args];
		process.env.NODE_COMPILE_CACHE = compiled;
		enableCompileCache(compiled);
		void import(pathToFileURL(entry).href);
	} else {
		fail(needsRuntime);
	}
};

function fail(message) {
	console.error(message);
	process.exitCode = 2;
}

/** Finds the package for this platform, which npm may have installed next to this one. */
function findRuntime() {
	const isWindows = process.platform === 'win32';
	const platform = `${isWindows ? 'win' : process.platform}-${process.arch}`;
	for (const name of [`node-${platform}`, `node-bin-${platform}`]) {
		try {
			return join(require.resolve(`${name}/package.json`), '..', 'bin', isWindows ? 'node.exe' : 'node');
		} catch {
			// Under the other name, or not at all.
		}
	}
	return undefined;
}

function run(runtime, args) {
	// A session of its own: a terminal's Ctrl-C reaches the product once, through the launcher. The channel closes when the launcher is killed.
	const child = spawn(runtime, ['--require', join(__dirname, 'tether.cjs'), entry, ...args], {
		detached: process.platform !== 'win32',
		stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
		env: { ...process.env, NODE_COMPILE_CACHE: compiled },
	});
	const forward = (signal) => child.kill(signal);
	for (const signal of forwarded) process.on(signal, forward);
	child.on('error', (error) => fail(`tollgate cannot run ${runtime}: ${error.message}`));
	child.on('exit', (code, signal) => {
		process.exitCode = signal === null ? code : 128 + constants.signals[signal];
	});
}

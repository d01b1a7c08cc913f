// Runs before `npm start`, `npm test` and other npm scripts: installs packages of the lockfile that are missing, and checks the version of
// Node.
// Plain JavaScript for any Node from 18 on, because nothing is installed yet when it runs.
'use strict';

const { spawnSync } = require('node:child_process');
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const lockFile = join(root, 'package-lock.json');
const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
/** Names that the runtime's package for this platform can have. */
const runtimes = [`node-${platform}`, `node-bin-${platform}`];

/** Scripts other than `npm start` need the development packages. */
const isForTests = process.env.npm_lifecycle_event !== 'prestart';

function readPackages(file) {
	return JSON.parse(readFileSync(file, 'utf8')).packages;
}

/** Compares with `node_modules/.package-lock.json`, which npm writes last. Optional packages depend on the platform. */
function isInstalled() {
	const installedFile = join(root, 'node_modules', '.package-lock.json');
	if (!existsSync(installedFile)) return false;
	if (!existsSync(lockFile)) return true;
	const installed = readPackages(installedFile);
	return Object.entries(readPackages(lockFile)).every(([path, wanted]) => {
		if (path === '' || (wanted.dev && !isForTests)) return true;
		const found = installed[path];
		if (found === undefined) return Boolean(wanted.optional || wanted.devOptional);
		return found.version === wanted.version && found.integrity === wanted.integrity;
	});
}

/**
 * Installs exactly the packages of the lockfile and does not change it. `npm ci` removes `node_modules` first, so `npm start` keeps npm's
 * default and installs development packages too: otherwise the next `npm test` would remove the packages of a running demo.
 */
function install() {
	console.error('Installing dependencies, once; this takes about half a minute.');
	const options = ['ci', '--loglevel=error', ...(isForTests ? ['--include=dev'] : [])];
	const cli = process.env.npm_execpath;
	const [program, ...first] = cli ? [process.env.npm_node_execpath || process.execPath, cli] : ['npm'];
	const result = spawnSync(program, [...first, ...options], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
	if (result.status === 0) return;
	const reason = result.error
		? result.error.message
		: result.stderr.split('\n').find((line) => /^npm (error|ERR!) (?!code|errno|syscall|type|path|dest)/.test(line));
	stop(`Dependencies could not be installed: ${reason || `npm ended with ${result.status ?? result.signal}`}`);
}

/** Checks the runtime of the lockfile or, without one, the machine's: npm puts `node_modules/.bin` first in the path. */
function checkRuntime() {
	const executable = process.platform === 'win32' ? 'node.exe' : 'node';
	const runtime = runtimes.find((name) => existsSync(join(root, 'node_modules', name, 'bin', executable)));
	const program = runtime === undefined ? 'node' : join(root, 'node_modules', runtime, 'bin', executable);
	const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
	if (Number(/^v(\d+)/.exec(stdout || '')?.[1]) >= 24) return;
	if (runtime !== undefined) {
		stop(
			`The runtime in node_modules/${runtime} does not run on this system: install Node 26, then run \`npm install --no-save --omit=optional\`.`,
		);
	}
	stop(
		`Node 24 or newer is needed, this is ${(stdout || '').trim()}: install Node 26 (https://nodejs.org), or \`npm install --no-save --include=optional\` if there is a package ${runtimes.join(' or ')}.`,
	);
}

function stop(message) {
	console.error(message);
	process.exit(1);
}

if (!isInstalled()) install();
checkRuntime();

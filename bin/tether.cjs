// Preloaded into what `launch.cjs` starts: when the launcher is killed outright, so is this process.
'use strict';

process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.channel.unref();
// Not for the workers that this process forks with its own arguments: one that loses it ends in order.
const at = process.execArgv.indexOf(__filename);
if (at > 0) process.execArgv.splice(at - 1, 2);

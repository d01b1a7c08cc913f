// Preloaded into what `launch.cjs` starts: when the launcher is killed outright, so is this process.
'use strict';

process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.channel.unref();

/**
 * `node:http` without what an import of it costs: an import reads every name of the module, and some of them load all of Node's `fetch`,
 * 35 ms of each start.
 */
export const http = process.getBuiltinModule('node:http');

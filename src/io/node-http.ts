/**
 * `node:http` without the cost of an import. An import reads every name of the module, and some of them load all of Node's `fetch`, which
 * adds 35 ms to each start.
 */
export const http = process.getBuiltinModule('node:http');

/**
 * Runtime: what the platform does around a function's code in its own process: loads it once, then calls its handler for one event after
 * the other. Its clock runs at the harness's pace; all else is the process's own.
 */
const [, , folder, handlerName, from, rate] = process.argv;

const RealDate = Date;
const now = () => Math.floor(Number(from) + (RealDate.now() - Number(from)) * Number(rate));
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }
  static now() {
    return now();
  }
};

const { existsSync } = require('node:fs');
const { pathToFileURL } = require('node:url');

const [file, name] = handlerName.split('.');
/** As the platform looks for it. */
const path = ['mjs', 'js', 'cjs'].map((ending) => `${folder}/${file}.${ending}`).find((one) => existsSync(one));
const started = RealDate.now();
const loading = import(pathToFileURL(path ?? `${folder}/${file}.js`).href).then((module) => {
  process.send({ kind: 'ready', loadedMs: RealDate.now() - started });
  return module[name];
});

process.on('message', async ({ id, event, context, deadline }) => {
  const invocation = { ...context, getRemainingTimeInMillis: () => Math.max(0, deadline - RealDate.now()) };
  try {
    const handler = await loading;
    const result = await handler(JSON.parse(event), invocation);
    process.send({ kind: 'result', id, result: JSON.stringify(result) });
  } catch (error) {
    const { name: errorType, message: errorMessage } = error instanceof Error ? error : { name: 'Error', message: String(error) };
    process.send({ kind: 'error', id, errorType, errorMessage });
  }
});

#!/usr/bin/env node
// Written by `npm run compile`. A part is compiled when something asks for it first: most commands need few of them.
// JavaScript of long ago, in one piece: this file must still load on a Node that is too old, to say so.
const needed = 24;
if (Number(process.versions.node.split('.')[0]) < needed) {
  process.stderr.write(
    `workspace-service needs Node ${needed} or newer, and this is Node ${process.versions.node}. Install Node ${needed} and start it again.\n`,
  );
  process.exitCode = 1;
} else {
  // Read when the first thread is needed: outbound/target.ts uses some of them.
  if (process.argv[2] === 'serve') {
    process.env['UV_THREADPOOL_SIZE'] = String(Math.max(64, Number(process.env['UV_THREADPOOL_SIZE']) || 0));
  }
  /** The code of each part, in which `import` has become `require`. @type {Record<string, () => string>} */
  const sources = {};
  /** @type {Record<string, { exports: any }>} */
  const loaded = {};
  load('./main.js')
    .main(process.argv.slice(2), process.env)
    .then((/** @type {number} */ exitCode) => {
      process.exitCode = exitCode;
    });

  /**
   * What `require` is to the parts.
   * @param {string} name
   * @returns {any}
   */
  function load(name) {
    const present = loaded[name];
    if (present) return present.exports;
    const source = sources[name];
    if (!source) return builtin(name);
    const { compileFunction } = process.getBuiltinModule('vm');
    const run = compileFunction(source(), ['require', 'exports', 'module'], { filename: name });
    // Entered before it runs, because parts may ask for each other.
    const module = { exports: {} };
    loaded[name] = module;
    run(load, module.exports, module);
    return module.exports;
  }

  /** @param {string} name */
  function builtin(name) {
    const module = process.getBuiltinModule(name);
    if (module === undefined) throw new Error(`${name} is no part of this file.`);
    return module;
  }
}

/** What makes a Node process run a module before its own, as a value for NODE_OPTIONS. */
export const preload = (code: string): string => `--import data:text/javascript,${encodeURIComponent(code)}`;

/** What a post-step runs before its own module, and its main step does not. */
export const inPostStep = (code: string): string => preload(`if (process.env.STATE_step) { ${code} }`);

/** Kills the process at once when it has written this to the file that the variable names. */
export const killedHavingWritten = (text: string, variable: string): string =>
  preload(`
    import { syncBuiltinESMExports } from 'node:module';
    import fs from 'node:fs';
    const append = fs.appendFileSync;
    fs.appendFileSync = (file, data, ...given) => {
      append(file, data, ...given);
      if (file === process.env.${variable} && data.includes(${JSON.stringify(text)})) process.kill(process.pid, 'SIGKILL');
    };
    syncBuiltinESMExports();
  `);

/** A process that collects its garbage so often that its heap is nearly what it needs. */
export const collectingGarbage = (everyMs: number): string =>
  preload(`
    import v8 from 'node:v8';
    import vm from 'node:vm';
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc');
    setInterval(collect, ${everyMs}).unref();
  `);

/** A machine whose clock is so far ahead, or behind. */
export const clockAhead = (ms: number): string =>
  preload(`
    const { timeOrigin } = performance;
    Object.defineProperty(performance, 'timeOrigin', { value: timeOrigin + ${ms} });
    globalThis.Date = class extends Date {
      constructor(...given) { if (given.length === 0) super(Date.now()); else super(...given); }
      static now() { return super.now() + ${ms}; }
    };
  `);

/** A process for which time passes so many times faster: its timers, and the clock that it measures with. */
export const fasterTime = (times: number): string =>
  preload(`
    import { syncBuiltinESMExports } from 'node:module';
    import promises from 'node:timers/promises';
    const later = globalThis.setTimeout;
    globalThis.setTimeout = (work, ms = 0, ...given) => later(work, ms / ${times}, ...given);
    const wait = promises.setTimeout;
    promises.setTimeout = (ms = 0, ...given) => wait(ms / ${times}, ...given);
    syncBuiltinESMExports();
    const now = performance.now.bind(performance);
    performance.now = () => now() * ${times};
    const uptime = process.uptime.bind(process);
    process.uptime = () => uptime() * ${times};
  `);

/**
 * A machine whose calendar runs so many times faster from that moment on, in milliseconds since 1970. With `fasterTime`
 * all of its processes tell the same time, whenever they have started.
 */
export const fasterCalendar = (times: number, since: number): string =>
  preload(`
    globalThis.Date = class extends Date {
      constructor(...given) { if (given.length === 0) super(Date.now()); else super(...given); }
      static now() { return ${since} + ${times} * (super.now() - ${since}); }
    };
    const every = globalThis.setInterval;
    globalThis.setInterval = (work, ms = 0, ...given) => every(work, ms / ${times}, ...given);
  `);

/**
 * A machine whose clocks are ahead of ours by the modification time of a file, in milliseconds since 1970. When that
 * changes, the clocks of all its processes jump and timers that are then due fire. All else runs at our speed.
 */
export const clockFollowing = (file: string): string =>
  preload(`
    import { statSync } from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    import promises from 'node:timers/promises';
    let last = 0;
    const ahead = () => (last = statSync(${JSON.stringify(file)}, { throwIfNoEntry: false })?.mtimeMs ?? last);
    globalThis.Date = class extends Date {
      constructor(...given) { if (given.length === 0) super(Date.now()); else super(...given); }
      static now() { return super.now() + ahead(); }
    };
    const now = performance.now.bind(performance);
    performance.now = () => now() + ahead();
    const uptime = process.uptime.bind(process);
    process.uptime = () => uptime() + ahead() / 1_000;
    const { setTimeout: later, clearTimeout: cancel } = globalThis;
    const pending = new Map();
    globalThis.setTimeout = (work, ms = 0, ...given) => {
      const goOff = () => { pending.delete(timer); work(...given); };
      const timer = later(goOff, ms);
      // The time was worked out by the clock as it was last read, even if it has jumped since.
      pending.set(timer, { dueAt: now() + last + ms, goOff });
      return timer;
    };
    globalThis.clearTimeout = (timer) => { pending.delete(timer); cancel(timer); };
    promises.setTimeout = (ms, value, { signal } = {}) => new Promise((resolve, reject) => {
      const stop = () => { clearTimeout(timer); reject(signal.reason); };
      const timer = setTimeout(() => { signal?.removeEventListener('abort', stop); resolve(value); }, ms);
      signal?.addEventListener('abort', stop, { once: true });
      if (signal?.aborted) stop();
    });
    syncBuiltinESMExports();
    let seen = ahead();
    setInterval(() => {
      if (ahead() === seen) return;
      seen = last;
      for (const [timer, { dueAt, goOff }] of pending) if (dueAt <= performance.now()) { cancel(timer); goOff(); }
    }, 20).unref();
  `);

/** Abort signals whose timeouts last this many times as long: those of a step are for the start of its renewer alone. */
export const slowerTimeouts = (times: number): string =>
  preload(`
    const { timeout } = AbortSignal;
    AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms * ${times});
  `);

/** Writes to the file that the variable names how long the process ran, by its own clock and in milliseconds. */
export const tellingItsTime = (variable: string): string =>
  preload(`
    import fs from 'node:fs';
    const began = performance.now();
    process.on('exit', () => fs.writeFileSync(process.env.${variable}, String(performance.now() - began)));
  `);

/** Adds a byte to the file that the variable names for each answer with this status. */
export const notingAnswers = (status: number, variable: string): string =>
  preload(`
    import { appendFileSync } from 'node:fs';
    import { subscribe } from 'node:diagnostics_channel';
    subscribe('http.client.response.finish', ({ response }) => {
      if (response.statusCode === ${status}) appendFileSync(process.env.${variable}, '.');
    });
  `);

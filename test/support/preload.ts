/** A value for NODE_OPTIONS that makes a process run this code before its own module. */
export const preload = (code: string): string => `--import data:text/javascript,${encodeURIComponent(code)}`;

/** Runs the code before the module of a post-step, but not of its main step. */
export const inPostStep = (code: string): string => preload(`if (process.env.STATE_step) { ${code} }`);

/** Kills the process as soon as it has written this text to the file named by the variable. */
export const killedHavingWritten = (text: string, variable: string): string =>
  preload(`
    import { syncBuiltinESMExports } from 'node:module';
    import fs from 'node:fs';
    const append = fs.appendFileSync;
    // Before a kept process takes another id for its next step.
    const { pid } = process;
    fs.appendFileSync = (file, data, ...given) => {
      append(file, data, ...given);
      if (file === process.env.${variable} && data.includes(${JSON.stringify(text)})) process.kill(pid, 'SIGKILL');
    };
    syncBuiltinESMExports();
  `);

/** A disk that is full after this number of lines of the ledger. */
export const diskFullAfter = (lines: number): string =>
  preload(`
    import { syncBuiltinESMExports } from 'node:module';
    import fs from 'node:fs';
    const append = fs.appendFileSync;
    let left = ${lines};
    fs.appendFileSync = (file, data, ...given) => {
      if (String(file).endsWith('ledger.jsonl') && (left -= 1) < 0) {
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      }
      append(file, data, ...given);
    };
    syncBuiltinESMExports();
  `);

/** A process that collects garbage so often that its heap is close to its live data. */
export const collectingGarbage = (everyMs: number): string =>
  preload(`
    import v8 from 'node:v8';
    import vm from 'node:vm';
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc');
    setInterval(collect, ${everyMs}).unref();
  `);

/** A machine whose clock is ahead by this time, or behind if it is negative. */
export const clockAhead = (ms: number): string =>
  preload(`
    const { timeOrigin } = performance;
    Object.defineProperty(performance, 'timeOrigin', { value: timeOrigin + ${ms} });
    globalThis.Date = class extends Date {
      constructor(...given) { if (given.length === 0) super(Date.now()); else super(...given); }
      static now() { return super.now() + ${ms}; }
    };
  `);

/** A process whose timers and monotonic clock run faster by this factor. */
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
 * A machine whose calendar runs faster by this factor from that moment on, in milliseconds since 1970. With
 * `fasterTime`, all its processes have the same time, whenever they were started.
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
 * A machine whose clocks are ahead of ours by the modification time of a file, in milliseconds since 1970. If that
 * changes, the clocks of all its processes jump, and due timers fire. Everything else runs at normal speed.
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
      // The caller computed the time from the last reading of the clock, which may have jumped since.
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

/** Multiplies the timeouts of abort signals: a step uses them only for the start of its renewer. */
export const slowerTimeouts = (times: number): string =>
  preload(`
    const { timeout } = AbortSignal;
    AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms * ${times});
  `);

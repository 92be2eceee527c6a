import { type Annotation, annotationOf } from './annotation.ts';
import type { Masks } from './masks.ts';
import { commandNames, parseCommand, type WorkflowCommand } from './workflow-command.ts';

export type OutputStream = 'stderr' | 'stdout';

/** A line as the process wrote it. */
export interface WrittenLine {
  readonly stream: OutputStream;
  readonly text: string;
}

/** What became of the output of a main or a post. */
export interface StepLog {
  take(line: WrittenLine): void;
  /** An error or a warning of the runner itself. */
  say(level: 'error' | 'warning', message: string): void;
  readonly written: readonly WrittenLine[];
  /** The log as a person reads it: commands carried out, secrets masked. */
  readonly shown: readonly string[];
  readonly annotations: readonly Annotation[];
  readonly debug: readonly string[];
  /** Set by the old commands `set-output` and `save-state`. */
  readonly outputs: readonly (readonly [name: string, value: string])[];
  readonly state: readonly (readonly [name: string, value: string])[];
  /** Whether a command could not be carried out, which fails the step whatever its exit code. */
  failed(): boolean;
}

export interface StepLogOptions {
  readonly masks: Masks;
  readonly workspace: string;
  /** Whether debug lines are shown. It turns the echo of commands on too. */
  readonly debug: boolean;
  /** Is given each line of `shown` as soon as it is there. */
  readonly onShown?: ((line: string) => void) | undefined;
}

/** These are never echoed. */
const quiet: ReadonlySet<string> = new Set(['add-mask', 'debug', 'error', 'notice', 'warning']);

const disabled = (name: string): string =>
  `The \`${name}\` command is disabled. Please upgrade to using Environment Files.`;

const deprecated = (name: string): string =>
  `The \`${name}\` command is deprecated and will be disabled soon. Please upgrade to using Environment Files.`;

/**
 * Reads the output of a step as the runner does. Facts: actions/runner, `ActionCommandManager.cs`, `OutputManager.cs`
 * and `ExecutionContext.cs`. A line is masked with the secrets that are known when it comes. The stop of commands is
 * one for both streams, and ends with the step. Problem matchers are not part of this.
 */
export function createStepLog({ masks, workspace, debug: showsDebug, onShown = () => {} }: StepLogOptions): StepLog {
  const written: WrittenLine[] = [];
  const shown: string[] = [];
  const annotations: Annotation[] = [];
  const debug: string[] = [];
  const outputs: [string, string][] = [];
  const state: [string, string][] = [];
  let failed = false;
  let echo = showsDebug;
  let resumeToken: string | undefined;

  const show = (text: string): void => {
    const line = masks.apply(text);
    shown.push(line);
    onShown(line);
  };

  const annotate = (annotation: Annotation, text: string): void => {
    annotations.push(annotation);
    show(`##[${annotation.level}]${text}`);
  };

  const say = (level: 'error' | 'warning', message: string): void =>
    annotate({ level, message: masks.apply(message), by: 'runner' }, message);

  const stop = (token: string, line: string): void => {
    if (token === '' || commandNames.has(token.toLowerCase()) || token.toLowerCase() === 'pause-logging') {
      failed = true;
      say('error', 'The token of stop-commands is empty, `pause-logging` or the name of a command.');
      return;
    }
    resumeToken = token.toLowerCase();
    if (token.length > 6) masks.add(token);
    show(line);
  };

  const addMask = (secret: string): void => {
    if (secret.trim() === '') {
      say('warning', "Can't add secret mask for empty string in ##[add-mask] command.");
      return;
    }
    if (echo) show('::add-mask::***');
    // Output comes line by line, so each line of a secret is one too.
    for (const part of [secret, ...secret.split(/[\r\n]/).map((line) => line.trim())]) masks.add(part);
  };

  const setByName = (into: [string, string][], { name, properties, data }: WorkflowCommand): void => {
    say('warning', deprecated(name));
    const key = properties.get('name');
    if (key === undefined) throw new Error(`Required field 'name' is missing in ##[${name}] command.`);
    into.push([key, data]);
  };

  const setEcho = (word: string): void => {
    const value = word.trim().toLowerCase();
    if (value !== 'on' && value !== 'off') throw new Error(`Invalid echo command value '${word}'.`);
    echo = value === 'on';
  };

  const carryOut = (command: WorkflowCommand): void => {
    const { name, data } = command;
    switch (name) {
      case 'error':
      case 'warning':
      case 'notice':
        annotate(annotationOf(name, command, { masks, workspace }), data);
        break;
      case 'debug':
        debug.push(masks.apply(data));
        if (showsDebug) for (const line of data.split(/\r?\n/)) show(`##[debug]${line}`);
        break;
      case 'group':
        show(`##[group]${data}`);
        break;
      case 'endgroup':
        show('##[endgroup]');
        break;
      case 'add-mask':
        addMask(data);
        break;
      case 'echo':
        setEcho(data);
        break;
      case 'set-output':
        setByName(outputs, command);
        break;
      case 'save-state':
        setByName(state, command);
        break;
      case 'set-env':
      case 'add-path':
        throw new Error(disabled(name));
    }
  };

  /** False when it is no command now, but a line like any other. */
  const process = (command: WorkflowCommand, line: string): boolean => {
    if (resumeToken !== undefined) {
      if (command.name !== resumeToken) return false;
      show(line);
      resumeToken = undefined;
      return true;
    }
    if (command.name === 'stop-commands') {
      stop(command.data, line);
      return true;
    }
    if (echo && !quiet.has(command.name)) show(line);
    try {
      carryOut(command);
    } catch (error) {
      failed = true;
      say('error', `Unable to process command '${line}' successfully.`);
      say('error', error instanceof Error ? error.message : String(error));
    }
    return true;
  };

  return {
    take(line) {
      written.push(line);
      const command = parseCommand(line.text, (name) => commandNames.has(name) || name === resumeToken);
      if (command === undefined || !process(command, line.text)) show(line.text);
    },
    say,
    written,
    shown,
    annotations,
    debug,
    outputs,
    state,
    failed: () => failed,
  };
}

/** The log before a reader opens any group: of a group there is its title only. */
export function collapseGroups(log: string): string {
  let inGroup = false;
  return log
    .split('\n')
    .filter((line) => {
      const opens = line.startsWith('##[group]');
      const visible = opens || !inGroup;
      if (opens) inGroup = true;
      const closes = line === '##[endgroup]';
      if (closes) inGroup = false;
      return visible && !closes;
    })
    .join('\n');
}

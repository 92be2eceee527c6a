import { isAbsolute, relative, sep } from 'node:path';
import type { Masks } from './masks.ts';
import { commandNames, parseCommand, type WorkflowCommand } from './workflow-command.ts';

export interface Annotation {
  readonly level: 'error' | 'notice' | 'warning';
  readonly message: string;
  readonly title?: string;
  /** Relative to the workspace where it lies inside. */
  readonly file?: string;
  /** The runner has something to say too, such as that a file command could not be read. */
  readonly by: 'action' | 'runner';
}

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
  /** Whether a command could not be carried out, which fails the step whatever its exit code. */
  failed(): boolean;
}

export interface StepLogOptions {
  readonly masks: Masks;
  readonly workspace: string;
  /** Whether debug lines are shown, and commands repeated. */
  readonly debug: boolean;
  /** Is given each line of `shown` as soon as it is there. */
  readonly onShown?: ((line: string) => void) | undefined;
}

/** These are never echoed. */
const quiet: ReadonlySet<string> = new Set(['add-mask', 'debug', 'error', 'notice', 'warning']);

/** actions/runner, `ExecutionContext.cs`: a longer message is cut. */
const maxMessageLength = 4096;

function fileInWorkspace(file: string, workspace: string): string {
  const inside = relative(workspace, file);
  const isInside = isAbsolute(file) && inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
  return isInside ? inside.replaceAll(sep, '/') : file;
}

/**
 * Reads the output of a step as the runner does. Facts: actions/runner, `ActionCommandManager.cs`, `OutputManager.cs`
 * and `ExecutionContext.cs`. A line is masked with the secrets that are known when it comes. Commands that neither the
 * action nor a workflow of ours gives, such as `stop-commands` or the old `set-output`, fail the step.
 */
export function createStepLog({ masks, workspace, debug: showsDebug, onShown = () => {} }: StepLogOptions): StepLog {
  const written: WrittenLine[] = [];
  const shown: string[] = [];
  const annotations: Annotation[] = [];
  const debug: string[] = [];
  let failed = false;

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

  const addMask = (secret: string): void => {
    if (secret.trim() === '') {
      say('warning', "Can't add secret mask for empty string in ##[add-mask] command.");
      return;
    }
    if (showsDebug) show('::add-mask::***');
    // Output comes line by line, so each line of a secret is one too.
    for (const part of [secret, ...secret.split(/[\r\n]/).map((line) => line.trim())]) masks.add(part);
  };

  /** The runner masks the message and nothing else: a secret in a title or in the name of a file stays readable. */
  const annotationOf = (level: Annotation['level'], { properties, data }: WorkflowCommand): Annotation => {
    const title = properties.get('title');
    const file = properties.get('file');
    return {
      level,
      message: masks.apply(data).slice(0, maxMessageLength),
      ...(title !== undefined && { title }),
      ...(file !== undefined && { file: fileInWorkspace(file, workspace) }),
      by: 'action',
    };
  };

  const carryOut = (command: WorkflowCommand): void => {
    const { name, data } = command;
    switch (name) {
      case 'error':
      case 'warning':
      case 'notice':
        annotate(annotationOf(name, command), data);
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
      default:
        failed = true;
        say('error', `Unable to process command '${name}' successfully: the runner of the tests does not know it.`);
    }
  };

  return {
    take(line) {
      written.push(line);
      const command = parseCommand(line.text, (name) => commandNames.has(name));
      if (command === undefined || (showsDebug && !quiet.has(command.name))) show(line.text);
      if (command !== undefined) carryOut(command);
    },
    say,
    written,
    shown,
    annotations,
    debug,
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

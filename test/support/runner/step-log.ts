import { isAbsolute, relative, sep } from 'node:path';
import type { Masks } from './masks.ts';
import { commandNames, parseCommand, type WorkflowCommand } from './workflow-command.ts';

export interface Annotation {
  readonly level: 'error' | 'notice' | 'warning';
  readonly message: string;
  readonly title?: string;
  /** The file, relative to the workspace if it is inside. */
  readonly file?: string;
  /** The author: the runner also writes annotations, such as for a file command that it could not read. */
  readonly by: 'action' | 'runner';
}

type OutputStream = 'stderr' | 'stdout';

/** A line as the process wrote it. */
export interface WrittenLine {
  readonly stream: OutputStream;
  readonly text: string;
}

interface StepLogOptions {
  readonly masks: Masks;
  readonly workspace: string;
  /** Whether debug lines are shown, and commands repeated. */
  readonly debug: boolean;
  /** Receives each line of `shown` immediately. */
  readonly onShown?: ((line: string) => void) | undefined;
}

/** Commands that are never echoed. */
const quiet: ReadonlySet<string> = new Set(['add-mask', 'debug', 'error', 'notice', 'warning']);

/** actions/runner, `ExecutionContext.cs`: longer messages are truncated. */
const maxMessageLength = 4096;

function fileInWorkspace(file: string, workspace: string): string {
  const inside = relative(workspace, file);
  const isInside = isAbsolute(file) && inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
  return isInside ? inside.replaceAll(sep, '/') : file;
}

export type StepLog = ReturnType<typeof createStepLog>;

/**
 * Reads the output of a step as the runner does. Facts: actions/runner, `ActionCommandManager.cs`, `OutputManager.cs`
 * and `ExecutionContext.cs`. Each line is masked with the secrets known at that time. Commands that neither the action
 * nor our workflows use, such as `stop-commands` or the old `set-output`, fail the step.
 */
export function createStepLog({ masks, workspace, debug: showsDebug, onShown = () => {} }: StepLogOptions) {
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
    // Output arrives line by line, so each line of a secret is masked as well.
    for (const part of [secret, ...secret.split(/[\r\n]/).map((line) => line.trim())]) masks.add(part);
  };

  /** The runner masks only the message: a secret in a title or a file name stays readable. */
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
    take(line: WrittenLine): void {
      written.push(line);
      const command = parseCommand(line.text, (name) => commandNames.has(name));
      if (command === undefined || (showsDebug && !quiet.has(command.name))) show(line.text);
      if (command !== undefined) carryOut(command);
    },
    /** Adds an error or a warning of the runner itself. */
    say,
    written,
    /** The log as displayed: commands executed, secrets masked. */
    shown,
    annotations,
    debug,
    /** Whether a command could not be executed, which fails the step whatever its exit code is. */
    failed: () => failed,
  };
}

/** The log with all groups collapsed: only their titles are shown. */
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

import { isAbsolute, relative, sep } from 'node:path';

export interface Annotation {
  readonly level: 'error' | 'notice' | 'warning';
  readonly message: string;
  readonly title?: string;
  /** The file, relative to the workspace if it is inside. */
  readonly file?: string;
  /** The author: the runner also writes annotations, such as for a file command that it could not read. */
  readonly by: 'action' | 'runner';
}

interface StepLogOptions {
  readonly masks: Masks;
  readonly workspace: string;
  /** Whether debug lines are shown. */
  readonly debug: boolean;
  /** Receives each line of `shown` immediately. */
  readonly onShown?: ((line: string) => void) | undefined;
}

/** actions/runner, `ExecutionContext.cs`: longer messages are truncated. */
const maxMessageLength = 4096;

/**
 * Reads the output of a step as the runner does. Facts: actions/runner, `ActionCommandManager.cs`, `OutputManager.cs`
 * and `ExecutionContext.cs`. Each line is masked with the secrets known at that time. Commands that neither the action
 * nor our workflows use, such as `stop-commands` or the old `set-output`, fail the step.
 */
export function createStepLog({ masks, workspace, debug: showsDebug, onShown = () => {} }: StepLogOptions) {
  const written: string[] = [];
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
    if (secret.trim() === '') say('warning', "Can't add secret mask for empty string in ##[add-mask] command.");
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
        if (showsDebug) show(`##[debug]${data}`);
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
    take(line: string): void {
      written.push(line);
      const command = parseCommand(line);
      if (command === undefined) show(line);
      else carryOut(command);
    },
    /** Adds an error or a warning of the runner itself. */
    say,
    /** Every line as the process wrote it. */
    written,
    /** The log as displayed: commands executed, secrets masked. */
    shown,
    annotations,
    debug,
    /** Whether a command could not be executed, which fails the step whatever its exit code is. */
    failed: () => failed,
  };
}

function fileInWorkspace(file: string, workspace: string): string {
  const inside = relative(workspace, file);
  const isInside = isAbsolute(file) && inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
  return isInside ? inside.replaceAll(sep, '/') : file;
}

/** A command in a line of output, such as `::error file=a.txt,line=1::message`. */
export interface WorkflowCommand {
  /** The name in lower case: the runner ignores case. */
  readonly name: string;
  /** The properties by lower-case name. */
  readonly properties: ReadonlyMap<string, string>;
  readonly data: string;
}

const decode = (text: string, escaped: RegExp): string =>
  text.replaceAll(escaped, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** Facts: actions/runner, `ActionCommand.cs`, which has an older form, too: `##[error]message` anywhere in a line. */
export function parseCommand(line: string): WorkflowCommand | undefined {
  const [, head, data = ''] = /^[\s\u0085]*::(.*?)::(.*)$/s.exec(line) ?? [];
  if (head === undefined) return undefined;
  const [, name = '', properties = ''] = /^(\S*)\s*(.*)$/s.exec(head) ?? [];
  const pairs = [...properties.matchAll(/([^=,]+)=([^,]+)/g)].map(
    ([, key = '', value = '']) => [key.toLowerCase(), decode(value, /%(0D|0A|3A|2C|25)/g)] as const,
  );
  return { name: name.toLowerCase(), properties: new Map(pairs), data: decode(data, /%(0D|0A|25)/g) };
}

export type Masks = ReturnType<typeof createMasks>;

/** The secrets of a job, shared by all its steps, as in the runner. */
export function createMasks(secrets: readonly string[] = []) {
  const values = new Set(secrets);
  return {
    add: (secret: string): void => void values.add(secret),
    /** The text with three asterisks for each secret. The runner also finds some encodings, on which nothing here relies. */
    apply: (text: string): string =>
      [...values]
        .filter((secret) => secret !== '')
        .toSorted((one, other) => other.length - one.length)
        .reduce((rest, secret) => rest.replaceAll(secret, '***'), text),
  };
}

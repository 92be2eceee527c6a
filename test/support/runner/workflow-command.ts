/** A command in a line of output. Facts: actions/runner, `ActionCommand.cs`, which calls the two forms V2 and V1. */
export interface WorkflowCommand {
  /** The name in lower case: the runner ignores case. */
  readonly name: string;
  /** The properties by lower-case name. */
  readonly properties: ReadonlyMap<string, string>;
  readonly data: string;
}

/** The commands that the runner supports; a line with any other is a normal line. */
export const commandNames: ReadonlySet<string> = new Set([
  'add-mask',
  'add-matcher',
  'add-path',
  'debug',
  'echo',
  'endgroup',
  'error',
  'group',
  'notice',
  'remove-matcher',
  'save-state',
  'set-env',
  'set-output',
  'stop-commands',
  'warning',
]);

interface Form {
  readonly separator: string;
  readonly inProperty: RegExp;
  readonly inData: RegExp;
}

/** `::error file=a.txt,line=1::message` */
const colons: Form = { separator: ',', inProperty: /%(0D|0A|3A|2C|25)/g, inData: /%(0D|0A|25)/g };

/** `##[error file=a.txt;line=1]message` */
const brackets: Form = { separator: ';', inProperty: /%(3B|0D|0A|5D|25)/g, inData: /%(3B|0D|0A|5D|25)/g };

const decode = (text: string, escaped: RegExp): string =>
  text.replaceAll(escaped, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

function parseProperties(text: string, form: Form): ReadonlyMap<string, string> {
  return new Map(
    text.split(form.separator).flatMap((pair): [string, string][] => {
      // A property without a value is omitted, and all but one of several equals signs are dropped.
      const [, name, value] = /^=*([^=]+)=+(.+)$/s.exec(pair) ?? [];
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), decode(value, form.inProperty)]];
    }),
  );
}

function build(
  head: string,
  data: string,
  form: Form,
  isKnown: (name: string) => boolean,
): WorkflowCommand | undefined {
  const blank = head.indexOf(' ');
  const name = (blank < 0 ? head : head.slice(0, blank)).toLowerCase();
  if (!isKnown(name)) return undefined;
  const properties = blank < 0 ? '' : head.slice(blank + 1);
  return {
    name,
    properties: parseProperties(form === colons ? properties.trim() : properties, form),
    data: decode(data, form.inData),
  };
}

/** White space in .NET; `trimStart` of JavaScript keeps U+0085 and removes U+FEFF. */
const leadingBlanks = /^[\t\n\v\f\r\u0085\p{Z}]+/u;

/** Parses a command at the start of the line, after blanks. */
function parseColons(line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined {
  const text = line.replace(leadingBlanks, '');
  if (!text.startsWith('::')) return undefined;
  const end = text.indexOf('::', 2);
  return end < 0 ? undefined : build(text.slice(2, end), text.slice(end + 2), colons, isKnown);
}

/** Parses a command anywhere in the line, even in the middle of a sentence. */
function parseBrackets(line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined {
  const start = line.indexOf('##[');
  const end = start < 0 ? -1 : line.indexOf(']', start);
  return end < 0 ? undefined : build(line.slice(start + 3, end), line.slice(end + 1), brackets, isKnown);
}

/** The command in a line, if it is a known one (with lower-case names). */
export const parseCommand = (line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined =>
  parseColons(line, isKnown) ?? parseBrackets(line, isKnown);

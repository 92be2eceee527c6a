export const signInUrl = (origin: string, link: string): string => `${origin}/sign-in?link=${link}`;

/** The only lines that show a link. */
export const signInLines = (url: string): readonly string[] => [
  'This link signs you in to the dashboard as administrator. It works once, within an hour:',
  '',
  `  ${url}`,
];

/** Where `serve` listens unless it is told otherwise. */
export const usualOrigin = 'http://127.0.0.1:8080';

const quotedForShell = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The command that makes a link, for the service that says so. */
export const signInCommand = (data: string, origin: string): string =>
  [
    'workspace-service sign-in',
    ...(data === './workspace-data' ? [] : [`--data ${quotedForShell(data)}`]),
    ...(origin === usualOrigin ? [] : [`--public-url ${quotedForShell(origin)}`]),
  ].join(' ');

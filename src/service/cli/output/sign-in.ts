import { shellWord } from '../../../interface/shell-word.ts';

export const signInUrl = (origin: string, link: string): string => `${origin}/sign-in?link=${link}`;

/** The only lines that show a link. */
export const signInLines = (url: string): readonly string[] => [
  'This link signs you in to the dashboard as administrator. It works once, within an hour:',
  '',
  `  ${url}`,
];

/** Default address of `serve`. */
export const defaultOrigin = 'http://127.0.0.1:8080';

/** The command that makes a link, for the service that says so. */
export const signInCommand = (data: string, origin: string): string =>
  [
    'workspace-service sign-in',
    ...(data === './workspace-data' ? [] : [`--data ${shellWord(data)}`]),
    ...(origin === defaultOrigin ? [] : [`--public-url ${shellWord(origin)}`]),
  ].join(' ');

import { shellWord } from '../../../interface/shell-word.ts';

export const signInUrl = (origin: string, link: string): string => `${origin}/sign-in?link=${link}`;

/** Lines that show the link. It appears nowhere else. */
export const signInLines = (url: string): readonly string[] => [
  'This link signs you in to the dashboard as an administrator. It works once, within an hour:',
  '',
  `  ${url}`,
];

/** Default address of `serve`. */
export const defaultOrigin = 'http://127.0.0.1:8080';

/** The command that creates a sign-in link, with the flags that the running service needs. */
export const signInCommand = (data: string, origin: string): string =>
  [
    'workspace-service sign-in',
    ...(data === './workspace-data' ? [] : [`--data ${shellWord(data)}`]),
    ...(origin === defaultOrigin ? [] : [`--public-url ${shellWord(origin)}`]),
  ].join(' ');

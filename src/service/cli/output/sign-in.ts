export const signInUrl = (origin: string, link: string): string => `${origin}/sign-in?link=${link}`;

/** Lines that show the link. It appears nowhere else. */
export const signInLines = (url: string): readonly string[] => [
  'This link signs you in to the dashboard as an administrator. It works once, within an hour:',
  '',
  `  ${url}`,
];

/** Default address of `serve`. */
export const defaultOrigin = 'http://127.0.0.1:8080';

import { accepted, type Parsed, refused } from '../interface/parsed.ts';

/** Any text that a program or a URL can contain. */
export const textOf =
  (what: string) =>
  (text: string): Parsed<string> =>
    text === '' || text.includes('\0') ? refused(`It must be ${what}.`) : accepted(text);

export const parseFile = textOf('the path of a file');

/** `-` is stdin or stdout. */
export const parseFileOrPipe = textOf('the path of a file, or -');

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): Parsed<number> => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max
      ? accepted(number)
      : refused(`It must be a whole number from ${min} to ${max}.`);
  };

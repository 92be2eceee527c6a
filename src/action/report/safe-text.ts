/** C0, DEL, C1, the two Unicode line breaks, and the marks that turn the direction of what follows. */
const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;

const codeOf = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/**
 * Text from outside as a part of one log line: it cannot begin another line, nor a workflow command. The runner takes
 * `::` at the start of a line for one, and `##[` anywhere in it (actions/runner, src/Runner.Common/ActionCommand.cs).
 */
export const oneLine = (text: string): string =>
  text
    .replace(unprintable, codeOf)
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replace(/##(?=\[)/g, '# #');

/** The last three would become a mention, an issue or an emoji, in HTML too: GitHub looks at text as it is shown. */
const htmlSpelling: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '@': '@<wbr>',
  '#': '#<wbr>',
  ':': ':<wbr>',
};

/** Text from outside in HTML, of which it can be no part but text. Markdown is not read inside an HTML block. */
export const inHtml = (text: string): string =>
  oneLine(text).replace(/[&<>"'@#:]/g, (character) => htmlSpelling[character] ?? character);

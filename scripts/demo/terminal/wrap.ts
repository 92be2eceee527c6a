/** Wraps text at spaces to lines of at most `width` characters. Longer words, such as URLs, are not broken. */
export function wrap(text: string, width: number): readonly string[] {
  const [margin = ''] = /^ */.exec(text) ?? [];
  const [first = '', ...words] = text.slice(margin.length).split(' ');
  const lines: string[] = [];
  let line = margin + first;
  for (const word of words) {
    if (line.length + 1 + word.length <= width) {
      line += ` ${word}`;
    } else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

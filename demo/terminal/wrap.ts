/** The text in lines of at most so many characters, broken at blanks. A longer word, such as an address, stays whole. */
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

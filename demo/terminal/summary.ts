import type { ShownLine } from './log-lines.ts';
import { pictureLines } from './picture.ts';

type Block =
  | { readonly kind: 'heading' | 'paragraph'; readonly text: string }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'picture'; readonly code: string };

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => entities[name] ?? entity);

const cellsOf = (row: string): readonly string[] =>
  [...row.matchAll(/<t[hd]>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textOf(cell));

/** The parts that the summaries of the action are made of. */
function blocksOf(summary: string): readonly Block[] {
  const parts = summary.matchAll(
    /<h3>(?<heading>.*?)<\/h3>|<p>(?<paragraph>.*?)<\/p>|<table>(?<table>.*?)<\/table>|```mermaid\n(?<picture>.*?)```/gs,
  );
  return [...parts].map(({ groups = {} }): Block => {
    const { heading, paragraph, table, picture } = groups;
    if (heading !== undefined) return { kind: 'heading', text: textOf(heading) };
    if (paragraph !== undefined) return { kind: 'paragraph', text: textOf(paragraph) };
    if (picture !== undefined) return { kind: 'picture', code: picture };
    const [head = [], ...rows] = [...(table ?? '').matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) => cellsOf(row));
    return { kind: 'table', head, rows };
  });
}

const between = '  ';

const length = (text: string): number => text.length;

function tableLines(head: readonly string[], rows: readonly (readonly string[])[]): readonly ShownLine[] {
  const widths = head.map((title, column) => Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map(length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(between)
      .trimEnd();
  return [
    { indent: 2, tone: 'heading', text: line(head), isRow: true },
    { indent: 2, tone: 'quiet', text: line(widths.map((width) => '─'.repeat(width))), isRow: true },
    ...rows.map((row): ShownLine => ({ indent: 2, tone: 'plain', text: line(row), isRow: true })),
  ];
}

function linesOf(block: Block): readonly ShownLine[] {
  switch (block.kind) {
    case 'heading':
      return [{ indent: 0, tone: 'heading', text: block.text }];
    case 'paragraph':
      return [{ indent: 0, tone: 'plain', text: block.text }];
    case 'table':
      return tableLines(block.head, block.rows);
    case 'picture':
      return [
        { indent: 0, tone: 'plain', text: '' },
        ...pictureLines(block.code).map((text): ShownLine => ({ indent: 2, tone: 'good', text, isRow: true })),
      ];
  }
}

/** A job summary of the action, for a terminal. */
export const summaryLines = (summary: string): readonly ShownLine[] => blocksOf(summary).flatMap(linesOf);

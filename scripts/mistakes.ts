import { parseSync, Visitor } from 'rolldown/utils';

/** A small mistake in a file, as a person makes one. */
export interface Mistake {
  readonly line: number;
  /** The code before and after, shortened. */
  readonly before: string;
  readonly after: string;
  /** The whole file with the mistake. */
  readonly text: string;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

const opposites = new Map(
  Object.entries({
    ...{ '===': '!==', '!==': '===', '<': '>=', '>=': '<', '>': '<=', '<=': '>' },
    ...{ '+': '-', '-': '+', '*': '/', '/': '*', '&&': '||', '||': '&&', '??': '&&' },
    ...{ some: 'every', every: 'some', min: 'max', max: 'min' },
  }),
);

/** Methods that narrow or arrange what they are called on. */
const narrowing = /^(filter|where|slice|toSorted|orderBy|limit|trim)$/;

export function mistakesIn(file: string, code: string): readonly Mistake[] {
  const mistakes: Mistake[] = [];
  const codeOf = ({ start, end }: Place): string => code.slice(start, end);
  const add = (place: Place, after: string): void => {
    const head = code.slice(0, place.start);
    mistakes.push({
      ...{ line: head.split('\n').length, before: shortened(codeOf(place)), after: shortened(after) },
      text: head + after + code.slice(place.end),
    });
  };
  const negate = ({ test }: { readonly test: Place }): void => add(test, `!(${codeOf(test)})`);
  const inTypes = new Set<number>();
  new Visitor({
    TSLiteralType: ({ start }) => void inTypes.add(start),
    IfStatement: negate,
    ConditionalExpression: negate,
    UnaryExpression(node) {
      if (node.operator === '!') add(node, codeOf(node.argument));
    },
    BinaryExpression(node) {
      const other = opposites.get(node.operator);
      const joinsTexts = node.operator === '+' && /['"`]/.test(codeOf(node));
      if (other !== undefined && !joinsTexts) add(node, `${codeOf(node.left)} ${other} ${codeOf(node.right)}`);
    },
    LogicalExpression(node) {
      add(node, `((${codeOf(node.left)}) ${opposites.get(node.operator)} (${codeOf(node.right)}))`);
    },
    ExpressionStatement(node) {
      if (/^(Call|Await)Expression$/.test(node.expression.type)) add(node, ';');
    },
    Literal(node) {
      if (inTypes.has(node.start)) return;
      if (typeof node.value === 'boolean') add(node, String(!node.value));
      if (typeof node.value === 'number') add(node, node.value === 0 ? '1' : '0');
    },
    CallExpression(node) {
      if (node.callee.type !== 'MemberExpression' || node.callee.property.type !== 'Identifier') return;
      const { object, property } = node.callee;
      const other = opposites.get(property.name);
      if (other !== undefined) add(property, other);
      if (narrowing.test(property.name)) add(node, codeOf(object));
    },
  }).visit(parseSync(file, code).program);
  return mistakes;
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

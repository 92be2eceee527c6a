import { expect, test } from 'vitest';
import { openScene } from '../e2e/scene.ts';
import { codeIn, interfacePage, section, tableRows } from './pages.ts';

const scene = openScene();

interface Operation {
  readonly security?: readonly { readonly token?: readonly string[] }[];
}

const access = ({ security: [needed] = [] }: Operation): string =>
  needed === undefined ? 'none' : (needed.token?.[0] ?? 'any token');

test('the table of the interface matches the OpenAPI document', async () => {
  const told = tableRows(section(interfacePage, 'The HTTP interface'), 'Method and path').map(
    ([what = '', scope = '']) => [codeIn(what)[0], codeIn(scope)[0] ?? scope],
  );
  const { body } = await scene.service.ask('GET', '/v1/openapi.json');
  // Other tests check the form of the document.
  const paths = Object.entries(body.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>);
  const described = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, access(operation)]),
  );
  expect(told.toSorted()).toEqual(described.toSorted());
});

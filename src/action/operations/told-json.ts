type Conceal = (text: string) => string;

function withoutSecrets(told: unknown, conceal: Conceal): unknown {
  if (typeof told === 'string') return conceal(told);
  if (Array.isArray(told)) return told.map((each) => withoutSecrets(each, conceal));
  if (typeof told !== 'object' || told === null) return told;
  return Object.fromEntries(
    Object.entries(told).map(([name, value]) => [conceal(name), withoutSecrets(value, conceal)]),
  );
}

/**
 * What the service said, as JSON and without secrets. They are taken out before: where a text has JSON in it, JSON once
 * more spells them in a way of its own.
 */
export const toldJson = (told: readonly unknown[], conceal: Conceal): string =>
  JSON.stringify(withoutSecrets(told, conceal));

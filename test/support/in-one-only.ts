/** The elements that only one of the two has. */
export const inOneOnly = <T>(one: Iterable<T>, other: Iterable<T>): readonly T[] => {
  const [first, second] = [new Set(one), new Set(other)];
  return [...first].filter((each) => !second.has(each)).concat([...second].filter((each) => !first.has(each)));
};

/** What is to be done at the end, the last first. What fails keeps nothing else from being done. */
export interface Endings {
  /** After the end it is done at once. */
  add(work: () => unknown): void;
  run(): Promise<void>;
}

export function createEndings(tell: (failure: string) => void): Endings {
  const works: (() => unknown)[] = [];
  let isOver = false;

  async function doIt(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
    }
  }

  return {
    add(work) {
      if (isOver) void doIt(work);
      else works.push(work);
    },
    async run() {
      isOver = true;
      for (let work = works.pop(); work !== undefined; work = works.pop()) await doIt(work);
    },
  };
}

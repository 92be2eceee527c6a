export async function main(_args: readonly string[], _environment: NodeJS.ProcessEnv): Promise<number> {
  return 0;
}

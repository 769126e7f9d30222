/** Does something to all items, a few at a time; the first failure ends it once those under way have ended. */
export async function pooled<T>(items: readonly T[], atOnce: number, act: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const failures: unknown[] = [];
  const work = async () => {
    for (let item = left.shift(); item !== undefined && failures.length === 0; item = left.shift())
      await act(item).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw failures[0];
}

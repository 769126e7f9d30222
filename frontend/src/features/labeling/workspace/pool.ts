/** Runs `work` over `items`, at most `width` at a time; one failure does not stop the others. */
export async function pooled<T>(items: readonly T[], width: number, work: (item: T) => Promise<unknown>): Promise<T[]> {
  const failed: T[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++] as T;
      try {
        await work(item);
      } catch {
        failed.push(item);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return failed;
}

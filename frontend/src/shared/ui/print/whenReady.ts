import type { QueryClient } from '@tanstack/react-query';

const STEP_MS = 100;
const QUIET_MS = 400;
const PATIENCE_MS = 20_000;
const LOADING = '[aria-busy=true],[role=status] .mantine-Loader-root,.mantine-Loader-root,.mantine-Skeleton-root';

const isLoading = (client: QueryClient) => {
  if (client.isFetching() > 0) return true;
  const main = document.querySelector('main');
  if (main?.querySelector(LOADING)) return true;
  return [...(main?.querySelectorAll('img') ?? [])].some((image) => image.hasAttribute('src') && !image.complete);
};

/** Resolves when everything is there and drawn for a moment; false if something still was not after a long time. */
export async function whenReady(client: QueryClient): Promise<boolean> {
  let quietMs = 0;
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += STEP_MS) {
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    quietMs = isLoading(client) ? 0 : quietMs + STEP_MS;
    if (quietMs >= QUIET_MS) return true;
  }
  return false;
}

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import { serve } from '@/test/fakeApi';
import { $api } from './client';
import { KEYSET, useKeysetRows } from './keyset';

test('the first page has no cursor, the next one has the cursor that the first named', async () => {
  const asked: string[] = [];
  const pages = [
    { results: [{ id: 'a' }], next: 'after-a' },
    { results: [{ id: 'b' }], next: null },
  ];
  serve('GET', 'tokens/', (_: Request, url: URL) => pages[asked.push(url.search) - 1]);
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const init = { params: { query: { limit: 50 } } };
  const { result } = renderHook(() => useKeysetRows($api.useInfiniteQuery('get', '/api/v1/tokens/', init, KEYSET)), {
    wrapper,
  });
  await waitFor(() => expect(result.current.rows).toHaveLength(1));
  expect(result.current.hasMore).toBe(true);
  result.current.loadMore();
  await waitFor(() => expect(result.current.rows).toHaveLength(2));
  expect(asked).toEqual(['?limit=50', '?limit=50&cursor=after-a']);
  expect(result.current.hasMore).toBe(false);
});

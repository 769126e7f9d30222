import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

test('the first page has no cursor, the next one has the cursor that the first named', async () => {
  const asked: string[] = [];
  const pages = [
    { results: [{ id: 'a' }], next: 'after-a' },
    { results: [{ id: 'b' }], next: null },
  ];
  vi.stubGlobal('fetch', async (request: Request) => {
    asked.push(new URL(request.url).search);
    return Response.json(pages[asked.length - 1]);
  });
  vi.stubGlobal(
    'Request',
    class extends Request {
      constructor(input: string, init?: RequestInit) {
        super(new URL(input, 'http://atom.test'), init);
      }
    },
  );
  const { $api } = await import('./client');
  const { KEYSET, useKeysetRows } = await import('./keyset');
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

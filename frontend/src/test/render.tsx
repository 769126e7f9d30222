import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { theme } from '@/app/theme';

/**
 * Renders `node` inside the providers of the app, at `path`, with a router that has only that page. `pattern` names the
 * parameters of the path, such as `/runs/$runId`.
 */
export async function renderPage(node: ReactNode, path = '/', pattern = '/$') {
  const root = createRootRoute();
  const page = createRoute({ getParentRoute: () => root, path: path === '/' ? '/' : pattern, component: () => node });
  const history = createMemoryHistory({ initialEntries: [path] });
  const router = createRouter({ routeTree: root.addChildren([page]), history });
  await router.load();
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  return render(
    <QueryClientProvider client={client}>
      <MantineProvider theme={theme} env="test">
        {/* The app's own router type is registered globally; this one has a single route. */}
        <RouterProvider router={router as never} />
      </MantineProvider>
    </QueryClientProvider>,
  );
}

import '@fontsource-variable/inter/wght.css';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './app/global.css';
import './app/print.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, type ReactNode, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { whenReachable } from '@/shared/live/connection';
import { listenForPrint, usePrinting } from '@/shared/ui/print/printing';
import { queryClient } from './app/queryClient';
import { router } from './app/router';
import { resolver, theme } from './app/theme';
import { startI18n } from './i18n';

// The policy of the page lets only those style elements count that carry it: see docs/security.md.
const nonce = document.querySelector<HTMLElement>('style[nonce]')?.nonce ?? '';
// Mantine's dialogs hold the page still with a library that looks for it here.
Object.assign(window, { __webpack_nonce__: nonce });

// Asked for at once, and not waited for: a toast that is shown meanwhile appears with it.
const Toasts = lazy(whenReachable(() => import('./app/Toasts')));

/** Paper is white, whatever the screen is. */
function Themed({ children }: { children: ReactNode }) {
  const forced = usePrinting() ? 'light' : undefined;
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolver}
      defaultColorScheme="auto"
      forceColorScheme={forced}
      getStyleNonce={() => nonce}
    >
      {children}
    </MantineProvider>
  );
}

async function start(host: HTMLElement): Promise<void> {
  await startI18n();
  listenForPrint();
  createRoot(host).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Themed>
          <Suspense fallback={null}>
            <Toasts />
          </Suspense>
          <RouterProvider router={router} />
        </Themed>
      </QueryClientProvider>
    </StrictMode>,
  );
}

const host = document.getElementById('root');
if (host) void start(host);

import { Box } from '@mantine/core';
import type { ReactNode } from 'react';

/** The padding of a page. `fill`: the page takes the height below the header, and its content scrolls inside. */
export function Page({ children, fill = false }: { children: ReactNode; fill?: boolean }) {
  const height = 'calc(100dvh - var(--app-shell-header-height, 52px))';
  const style = fill
    ? ({ height, display: 'flex', flexDirection: 'column', overflow: 'hidden auto' } as const)
    : undefined;
  return (
    <Box p={{ base: 'sm', sm: 'lg' }} pb={fill ? 0 : undefined} style={style}>
      {children}
    </Box>
  );
}

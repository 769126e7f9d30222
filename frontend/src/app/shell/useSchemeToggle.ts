import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';

/** Switches to the scheme that is not shown now. */
export function useSchemeToggle(): () => void {
  const { setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme('light');
  return () => setColorScheme(shown === 'dark' ? 'light' : 'dark');
}

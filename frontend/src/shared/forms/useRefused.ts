import type { UseFormReturnType } from '@mantine/form';
import { useEffect, useState } from 'react';

/**
 * The server's refusal of a form as a whole, until one of its values changes: it belongs to the values that were sent.
 */
export function useRefused<T extends object>(form: UseFormReturnType<T>) {
  const [error, setError] = useState<unknown>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change that counts
  useEffect(() => setError(null), [form.values]);
  return [error, setError] as const;
}

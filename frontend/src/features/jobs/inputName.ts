import type { RunShort } from '@/api/contract/jobs';

type RunInput = Pick<RunShort['datasets'][number], 'dataset' | 'ref' | 'view'>;

/** The data that a run reads, as the command line writes it: `digits@v3`, or `digits@v3?view=ones`. */
export function inputName({ dataset, ref, view }: RunInput): string {
  return `${dataset}@${ref}${view ? `?view=${view}` : ''}`;
}

/** Where that is looked at. */
export function inputLink({ dataset, ref, view }: RunInput) {
  return { to: '/datasets/$name', params: { name: dataset }, search: { ref, view: view || undefined } } as const;
}

import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Run } from '@/api/contract/jobs';
import type { runSearch } from '../search';
import { isActive } from '../states';
import { Curves } from './Curves';

/** The curves of a run; what was zoomed to is part of the address. */
export function CurvesTab({ run }: { run: Run }) {
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof runSearch>;
  const zoom: [number, number] | null =
    search.from !== undefined && search.to !== undefined ? [search.from, search.to] : null;
  const setZoom = (next: [number, number] | null) =>
    void navigate({ to: '.', search: (old) => ({ ...old, from: next?.[0], to: next?.[1] }), replace: true });
  return <Curves id={run.id} active={isActive(run)} zoom={zoom} onZoom={setZoom} />;
}

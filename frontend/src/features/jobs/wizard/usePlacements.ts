import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { $api } from '@/api/client';
import type { PlacementQuestionRequest } from '@/api/contract/jobs';
import { useProject } from '@/shared/domain/project';

const SETTLE_MS = 400;

/** The places that could take a run; asked once the question rests, and given up when another one overtakes it. */
export function usePlacements(question: PlacementQuestionRequest, enabled = true) {
  const project = useProject();
  const [text] = useDebouncedValue(JSON.stringify(question), SETTLE_MS);
  const body = useMemo(() => JSON.parse(text) as PlacementQuestionRequest, [text]);
  return $api.useQuery(
    'post',
    '/api/v1/projects/{project}/placements/preview/',
    { params: { path: { project } }, body },
    { enabled, placeholderData: keepPreviousData, staleTime: 5000, retry: false },
  );
}

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Version } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';
import { damageWords, isTooLarge, markOf } from '../damage';
import { fetchEntries } from '../queries';
import { FileProblems } from './FileProblems';
import type { Transfer } from './transfer';

const NAMED = 200;
const MARKED = 'attributes.unreadable IS NOT NULL';

/** Names the pictures below the folder of an upload that cannot be read whole. */
export function Unreadable({ transfer, version }: { transfer: Transfer; version: Version }) {
  const { t } = useTranslation();
  const project = useProject();
  const { dataset, folder } = transfer.order;
  const marked = useQuery({
    queryKey: ['unreadable', project, dataset, version.commit, folder],
    queryFn: ({ signal }) =>
      fetchEntries(
        { project, dataset, ref: version.commit },
        { prefix: folder || undefined, where: MARKED, limit: NAMED },
        signal,
      ),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  const problems = (marked?.results ?? []).flatMap(({ path, attributes }) => {
    const reason = markOf(attributes);
    return reason && !isTooLarge(reason) ? [{ path, words: damageWords(t, reason) }] : [];
  });
  return <FileProblems title={t('upload.notWhole', { count: problems.length })} problems={problems} />;
}

import { Button, Group, Loader, Text } from '@mantine/core';
import { IconChecks, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Branch } from '@/api/contract/datasets';
import { ErrorState } from '@/shared/ui/ErrorState';
import { EditBar } from '../operations/EditBar';
import type { OnVersion } from '../operations/edited';
import type { VersionAddress } from '../queries';
import { askedBy } from '../views/asked';
import type { BrowseSearch } from './useBrowse';
import { MAX_PICKED, type usePicking } from './usePicking';

interface PickedBarProps {
  address: VersionAddress;
  /** The branch that edits go to, whose newest version this is; none for an older one. */
  branch: Branch | undefined;
  search: BrowseSearch;
  picked: ReturnType<typeof usePicking>;
  total: number;
  /** Whether `total` is all that match. */
  isExact: boolean;
  onVersion: OnVersion;
}

/** The actions on the files that are chosen in the grid. */
export function PickedBar({ address, branch, search, picked, total, isExact, onVersion }: PickedBarProps) {
  const { t } = useTranslation();
  const { count, isAll, paths, error, clear, pickAll } = picked;
  if (count === 0) return null;
  const bar = { name: address.dataset, branch, source: address.ref, onClear: clear, onDone: onVersion };
  const { where, prefix } = askedBy(search);
  const all = { paths: prefix ? [prefix] : [], where: where || undefined, view: search.view };
  if (isAll) return <EditBar {...bar} of={all} count={count} isMatching isExact={isExact} />;
  const more = total > count && (
    <Button size="xs" variant="default" leftSection={<IconChecks size={14} />} onClick={pickAll}>
      {t(isExact ? 'datasets.pickAll' : 'datasets.pickAllMatching', { count: total })}
    </Button>
  );
  if (paths)
    return (
      <EditBar {...bar} of={{ paths }} count={count}>
        {more}
      </EditBar>
    );
  return (
    <Group gap="xs" p="xs" role="toolbar" aria-label={t('versioning.selected', { count })}>
      <Text size="sm" role="status">
        {t('versioning.selected', { count })}
      </Text>
      {error && <ErrorState error={error} compact />}
      {!error && count <= MAX_PICKED && <Loader size="xs" aria-label={t('common.loading')} />}
      {count > MAX_PICKED && (
        <Text size="sm" c="dimmed">
          {t('datasets.pickTooMany', { count: MAX_PICKED })}
        </Text>
      )}
      {more}
      <Button size="xs" variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={clear}>
        {t('versioning.clear')}
      </Button>
    </Group>
  );
}

import { Button, Group, Text, Tooltip } from '@mantine/core';
import { IconArchive, IconArchiveOff, IconArrowsDiff, IconBan, IconTag } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ListedRun } from '@/api/contract/jobs';
import { useMay } from '@/shared/domain/project';
import { joined, MAX_COMPARED, MIN_COMPARED } from '../compare/numbers';
import { isActive, mayCancel } from '../states';
import { TagDialog } from './TagDialog';
import type { useBulk } from './useBulk';

const idsOf = (runs: ListedRun[]): string[] => runs.map(({ id }) => id);

/** The actions on the runs that are ticked. */
export function Toolbar({ chosen, bulk }: { chosen: ListedRun[]; bulk: ReturnType<typeof useBulk> }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayRun = useMay('researcher');
  const [tagging, setTagging] = useState(false);
  const cancellable = chosen.filter(mayCancel);
  const archivable = chosen.filter((run) => !isActive(run) && !run.archived_at);
  const archived = chosen.filter((run) => run.archived_at);
  const busy = bulk.asked !== null;
  return (
    <Group gap="sm" mb="xs" role="toolbar" aria-label={t('common.actions')}>
      <Text size="sm" fw={600}>
        {t('common.selected', { count: chosen.length })}
      </Text>
      <Tooltip label={t('compare.compareHint', { max: MAX_COMPARED })}>
        <Button
          variant="light"
          leftSection={<IconArrowsDiff size={14} />}
          disabled={chosen.length < MIN_COMPARED || chosen.length > MAX_COMPARED}
          onClick={() =>
            void navigate({ to: '/runs/compare', search: { runs: joined(chosen.map(({ number }) => number)) } })
          }
        >
          {t('compare.compare', { count: chosen.length })}
        </Button>
      </Tooltip>
      {mayRun && (
        <>
          <Button variant="light" leftSection={<IconTag size={14} />} onClick={() => setTagging(true)}>
            {t('runs.tagRuns')}
          </Button>
          {archived.length > 0 ? (
            <Button
              variant="light"
              leftSection={<IconArchiveOff size={14} />}
              loading={bulk.asked === 'restore'}
              onClick={() => bulk.restore(idsOf(archived))}
            >
              {t('runs.restore', { count: archived.length })}
            </Button>
          ) : (
            <Button
              variant="light"
              leftSection={<IconArchive size={14} />}
              disabled={archivable.length === 0 || busy}
              onClick={() => bulk.archive(idsOf(archivable))}
            >
              {t('runs.archive', { count: archivable.length })}
            </Button>
          )}
          <Button
            color="red"
            variant="light"
            leftSection={<IconBan size={14} />}
            disabled={cancellable.length === 0 || busy}
            onClick={() => bulk.cancel(idsOf(cancellable))}
          >
            {t('jobs.cancelSelected', { count: cancellable.length })}
          </Button>
        </>
      )}
      {tagging && <TagDialog runs={chosen} onClose={() => setTagging(false)} />}
    </Group>
  );
}

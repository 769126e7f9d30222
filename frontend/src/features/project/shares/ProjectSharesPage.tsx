import { Card, Text } from '@mantine/core';
import { IconShare } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ProjectRunShare } from '@/api/contract/jobs';
import { useMay } from '@/shared/domain/project';
import { EndShare } from '@/shared/domain/sharing/EndShare';
import { useProjectShares, useSharing } from '@/shared/domain/sharing/queries';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { Forbidden } from '@/shared/ui/Forbidden';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { ProjectHeader } from '../ProjectHeader';
import classes from './shares.module.css';

/** All links to runs of the project that work, for its administrators. */
export function ProjectSharesPage() {
  const { t } = useTranslation();
  const may = useMay('admin');
  const shares = useProjectShares(may);
  const columns = useColumns();
  return (
    <Page>
      <ProjectHeader tab="runShares" subtitle={t('sharing.project.subtitle')} />
      <Card p={0} data-shares tabIndex={-1} className={classes.table}>
        {may ? (
          <DataTable
            {...shares}
            label={t('sharing.project.title')}
            columns={columns}
            rowKey={({ id }) => id}
            empty={<EmptyState icon={IconShare} title={t('sharing.project.empty')} />}
          />
        ) : (
          <Forbidden hint={t('sharing.project.forbiddenHint')} />
        )}
      </Card>
    </Page>
  );
}

function useColumns(): Column<ProjectRunShare>[] {
  const { t } = useTranslation();
  const { end } = useSharing();
  return [
    {
      key: 'run',
      header: t('sharing.project.run'),
      cell: ({ run, note }) => (
        <div className={classes.name}>
          <AnchorLink to="/runs/$runId" params={{ runId: run.id }} fz="inherit">
            {`#${run.number} ${run.name}`}
          </AnchorLink>
          {note && (
            <Text size="xs" c="dimmed">
              {t('sharing.project.for', { note })}
            </Text>
          )}
        </div>
      ),
    },
    {
      key: 'by',
      header: t('sharing.project.by'),
      from: 'sm',
      cell: ({ created_by }) => created_by?.full_name || created_by?.username || '–',
    },
    {
      key: 'log',
      header: t('sharing.project.log'),
      from: 'md',
      cell: ({ with_log }) => t(with_log ? 'common.yes' : 'common.no'),
    },
    {
      key: 'until',
      header: t('sharing.project.until'),
      cell: ({ expires_at }) => <RelativeTime at={expires_at} />,
    },
    {
      key: 'seen',
      header: t('sharing.project.seen'),
      from: 'sm',
      cell: ({ last_seen_at }) => <RelativeTime at={last_seen_at} />,
    },
    {
      key: 'act',
      header: t('common.actions'),
      align: 'right',
      cell: ({ id, note, run }) => (
        <span data-share>
          <EndShare name={note || t('sharing.unnamedOf', { number: run.number })} onEnd={() => end(run.id, id)} />
        </span>
      ),
    },
  ];
}

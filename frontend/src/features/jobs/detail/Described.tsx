import { ActionIcon, Badge, Button, Group, Text, Tooltip } from '@mantine/core';
import { IconEdit, IconStar, IconStarFilled } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { useMay } from '@/shared/domain/project';
import { AnchorLink } from '@/shared/ui/links';
import { notifyError } from '@/shared/ui/undo';
import { describeRun, useRefreshRun } from '../queries';
import classes from './detail.module.css';
import { NotesDialog } from './NotesDialog';

/** Descriptions of a run by people: its star, tags and notes, with the way to change them. */
export function Described({ run }: { run: Run }) {
  const { t } = useTranslation();
  const mayRun = useMay('researcher');
  const [editing, setEditing] = useState(false);
  if (!mayRun && !run.starred && !run.notes && run.tags.length === 0) return null;
  return (
    <section aria-label={t('runs.notes')} className={classes.described}>
      <Group gap={6}>
        <Star run={run} mayChange={mayRun} />
        {run.archived_at && (
          <Badge color="orange" variant="light">
            {t('runs.isArchived')}
          </Badge>
        )}
        {run.tags.map((tag) => (
          <AnchorLink key={tag} to="/runs" search={{ tag }} underline="never">
            <Badge color="gray" style={{ cursor: 'pointer' }} tt="none">
              {tag}
            </Badge>
          </AnchorLink>
        ))}
        {mayRun && (
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconEdit size={13} />}
            onClick={() => setEditing(true)}
          >
            {t('runs.edit')}
          </Button>
        )}
      </Group>
      {run.notes && (
        // Long notes scroll by themselves, and so can be reached by the keyboard.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        <div className={classes.notes} tabIndex={0} role="note" aria-label={t('runs.notes')}>
          <Text size="sm">{run.notes}</Text>
        </div>
      )}
      {editing && <NotesDialog run={run} onClose={() => setEditing(false)} />}
    </section>
  );
}

function Star({ run, mayChange }: { run: Run; mayChange: boolean }) {
  const { t } = useTranslation();
  const refresh = useRefreshRun();
  const [busy, setBusy] = useState(false);
  const Glyph = run.starred ? IconStarFilled : IconStar;
  if (!mayChange) return run.starred ? <IconStarFilled size={15} role="img" aria-label={t('runs.starred')} /> : null;
  const toggle = async () => {
    setBusy(true);
    try {
      await describeRun(run.id, { starred: !run.starred });
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(false);
      refresh();
    }
  };
  const label = t(run.starred ? 'runs.unstar' : 'runs.star');
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="yellow"
        size="sm"
        aria-label={label}
        aria-pressed={run.starred}
        disabled={busy}
        onClick={() => void toggle()}
      >
        <Glyph size={15} />
      </ActionIcon>
    </Tooltip>
  );
}

import { Alert, Badge, Button, Checkbox, Group, Select, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconLinkOff } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { MadeRunShare, Run, RunShare } from '@/api/contract/jobs';
import { useMe } from '@/shared/domain/me';
import { useMay } from '@/shared/domain/project';
import { EndShare } from '@/shared/domain/sharing/EndShare';
import { useShares, useSharing } from '@/shared/domain/sharing/queries';
import { FormFrame } from '@/shared/forms/FormFrame';
import { CommandLine } from '@/shared/ui/CommandLine';
import { Dialog, ShownOnce } from '@/shared/ui/Dialog';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { runName } from '../list/columns';
import { isTracked } from '../states';
import classes from './sharing.module.css';

const DAYS = [1, 7, 30, 90];

/** Links that show the run to people without an account: those that work, and a new one. */
export function ShareDialog({ run, opened, onClose }: { run: Run; opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('sharing.title', { name: runName(run) })}>
      <Sharing run={run} onClose={onClose} />
    </Dialog>
  );
}

function Sharing({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  const mayRun = useMay('researcher');
  const shares = useShares(run.id);
  const [made, setMade] = useState<MadeRunShare | null>(null);
  const area = useFocusOn(made);
  if (shares.error && !shares.data)
    return <ErrorState compact error={shares.error} onRetry={() => void shares.refetch()} />;
  if (!shares.data) return <Skeleton height={220} aria-busy />;
  const { enabled, results } = shares.data;
  return (
    <Stack ref={area}>
      <Text size="sm">{t('sharing.hint')}</Text>
      {!enabled && (
        <Alert color="orange" variant="light" icon={<IconLinkOff size={18} />}>
          {t('sharing.off')}
        </Alert>
      )}
      {made && <MadeLink made={made} onDone={() => setMade(null)} />}
      {!made && enabled && mayRun && <ShareForm run={run} onMade={setMade} onCancel={onClose} />}
      <section aria-labelledby="links-that-work" data-shares tabIndex={-1} className={classes.list}>
        <Title order={3} fz="sm" id="links-that-work" mb="xs">
          {t('sharing.links')}
        </Title>
        {results.length === 0 ? (
          <EmptyState compact icon={IconLinkOff} title={t('sharing.none')} />
        ) : (
          <Stack gap="xs">
            {results.map((one) => (
              <ShareRow key={one.id} run={run.id} share={one} />
            ))}
          </Stack>
        )}
      </section>
    </Stack>
  );
}

/** The form and the link that it made take each other's place: whoever had the focus in one has it in the other. */
function useFocusOn(change: unknown) {
  const area = useRef<HTMLDivElement>(null);
  const before = useRef(change);
  useEffect(() => {
    if (before.current === change) return;
    before.current = change;
    area.current?.querySelector<HTMLElement>('[data-takes-focus]')?.focus();
  }, [change]);
  return area;
}

interface ShareFormProps {
  run: Run;
  onMade: (made: MadeRunShare) => void;
  onCancel: () => void;
}

function ShareForm({ run, onMade, onCancel }: ShareFormProps) {
  const { t } = useTranslation();
  const { make } = useSharing();
  const form = useForm({ initialValues: { days: '30', note: '', with_log: false } });
  const send = async ({ days, note, with_log }: typeof form.values) => {
    const made = await make(run.id, { days: Number(days), note: note.trim(), with_log });
    if (made) onMade(made);
  };
  return (
    <FormFrame form={form} send={send} submit={t('sharing.make')} onCancel={onCancel}>
      <TextInput
        label={t('sharing.note')}
        description={t('sharing.noteHint')}
        maxLength={100}
        autoComplete="off"
        data-autofocus
        data-takes-focus
        {...form.getInputProps('note')}
      />
      <Select
        label={t('sharing.days')}
        data={DAYS.map((count) => ({ value: String(count), label: t('sharing.forDays', { count }) }))}
        allowDeselect={false}
        {...form.getInputProps('days')}
      />
      {!isTracked(run) && (
        <Checkbox
          label={t('sharing.withLog')}
          description={t('sharing.withLogHint')}
          {...form.getInputProps('with_log', { type: 'checkbox' })}
        />
      )}
    </FormFrame>
  );
}

/** The link as it is shown once. */
function MadeLink({ made, onDone }: { made: MadeRunShare; onDone: () => void }) {
  const { t } = useTranslation();
  return (
    <ShownOnce>
      <Stack gap="xs">
        <Text size="sm" role="status">
          {t('sharing.madeHint')}
        </Text>
        <section aria-label={t('sharing.made')} data-secret>
          <CommandLine command={made.link} what={t('sharing.made')} />
        </section>
        <Group justify="flex-end">
          <Button onClick={onDone} data-takes-focus>
            {t('common.done')}
          </Button>
        </Group>
      </Stack>
    </ShownOnce>
  );
}

function ShareRow({ run, share }: { run: string; share: RunShare }) {
  const { t } = useTranslation();
  const format = useFormat();
  const me = useMe();
  const administers = useMay('admin');
  const { end } = useSharing();
  const who = share.created_by;
  const name = share.note || t('sharing.unnamed');
  const mayEnd = administers || (me !== undefined && who?.username === me.username);
  return (
    <Group justify="space-between" gap="xs" data-share className={classes.row}>
      <div className={classes.facts}>
        <Group gap={6}>
          <Text size="sm" fw={600} className={classes.name}>
            {name}
          </Text>
          {share.with_log && <Badge size="sm">{t('sharing.showsLog')}</Badge>}
        </Group>
        <Text size="xs" c="dimmed" component="div" className={classes.dimmed}>
          <span>{who ? t('sharing.by', { name: who.full_name || who.username }) : t('sharing.byNobody')}</span>
          <span>{t('sharing.until', { at: format.dateTime(share.expires_at) })}</span>
          {share.last_seen_at ? (
            <span>
              {t('sharing.seen')} <RelativeTime at={share.last_seen_at} />
            </span>
          ) : (
            <span>{t('sharing.neverSeen')}</span>
          )}
        </Text>
      </div>
      {mayEnd && <EndShare name={name} onEnd={() => end(run, share.id)} />}
    </Group>
  );
}

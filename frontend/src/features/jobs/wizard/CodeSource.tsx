import { Alert, Button, Group, SegmentedControl, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { IconAlertTriangle, IconGitCommit } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { CodeFetch } from '@/api/contract/jobs';
import { asApiError } from '@/api/errors';
import { fieldWords, problemWords } from '@/shared/domain/problemWords';
import { useSecrets } from '@/shared/domain/secrets';
import { CopyId } from '@/shared/ui/CopyId';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useCodeFetch, useFetchCode } from '../queries';
import type { Draft, GitSource } from './draft';

interface Props {
  draft: Draft;
  set: (values: Partial<Draft>) => void;
  error: string | undefined;
}

/** Where the command's code comes from: a commit, a snapshot that was sent, or nowhere. */
export function CodeSource({ draft, set, error }: Props) {
  const { t } = useTranslation();
  const kind = draft.git ? 'git' : draft.codeSnapshot || draft.wantsSnapshot ? 'snapshot' : 'none';
  const choose = (next: string) =>
    set({
      git: next === 'git' ? { url: '', ref: '', secret: '', fetch: '' } : null,
      wantsSnapshot: next === 'snapshot',
      codeSnapshot: '',
    });
  return (
    <Stack gap={6} role="group" aria-label={t('git.source')}>
      <Text size="sm" fw={500}>
        {t('git.source')}
      </Text>
      <div>
        <SegmentedControl
          aria-label={t('git.source')}
          value={kind}
          onChange={choose}
          data={[
            { value: 'none', label: t('git.none') },
            { value: 'git', label: t('git.fromGit') },
            { value: 'snapshot', label: t('git.fromSnapshot') },
          ]}
        />
      </div>
      {kind === 'none' && (
        <Text size="xs" c="dimmed">
          {t('git.noneHint')}
        </Text>
      )}
      {kind === 'snapshot' && (
        <TextInput
          label={t('wizard.code')}
          description={t('wizard.codeHint')}
          value={draft.codeSnapshot}
          error={error}
          onChange={(event) => set({ codeSnapshot: event.currentTarget.value.trim() })}
        />
      )}
      {draft.git && <FromGit source={draft.git} draft={draft} set={set} error={error} />}
    </Stack>
  );
}

function FromGit({ source, draft, set, error }: Props & { source: GitSource }) {
  const { t } = useTranslation();
  const secrets = useSecrets().rows?.map(({ name }) => name) ?? [];
  const { ask, isPending, error: refused } = useFetchCode();
  const fetched = useCodeFetch(source.fetch);
  const found = source.fetch ? fetched.data : undefined;
  const wrong = refused ? fieldWords(asApiError(refused)) : {};
  const busy = isPending || found?.state === 'waiting' || found?.state === 'fetching';
  // A changed field no longer names the fetched commit.
  const change = (values: Partial<GitSource>) => set({ git: { ...source, ...values, fetch: '' }, codeSnapshot: '' });
  const start = () =>
    void ask({ url: source.url.trim(), ref: source.ref.trim(), secret: source.secret }).then(
      ({ id }) => set({ git: { ...source, fetch: id }, codeSnapshot: '' }),
      () => undefined,
    );
  const snapshot = found?.code_snapshot ?? '';
  useEffect(() => {
    if (snapshot && snapshot !== draft.codeSnapshot) set({ codeSnapshot: snapshot });
  }, [snapshot, draft.codeSnapshot, set]);
  return (
    <Stack gap="xs">
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput
          label={t('git.url')}
          description={t('git.urlHint')}
          withAsterisk
          autoComplete="off"
          spellCheck={false}
          value={source.url}
          error={wrong.url ?? (draft.codeSnapshot || busy ? undefined : error)}
          onChange={(event) => change({ url: event.currentTarget.value })}
        />
        <TextInput
          label={t('git.ref')}
          description={t('git.refHint')}
          spellCheck={false}
          value={source.ref}
          error={wrong.ref}
          onChange={(event) => change({ ref: event.currentTarget.value })}
        />
        <Select
          label={t('git.secret')}
          description={t('git.secretHint')}
          data={secrets}
          clearable
          searchable
          value={source.secret || null}
          error={wrong.secret}
          onChange={(secret) => change({ secret: secret ?? '' })}
        />
      </SimpleGrid>
      <Group gap="sm">
        <Button variant="default" onClick={start} disabled={!source.url.trim()} loading={busy}>
          {t(found && !busy ? 'git.fetchAgain' : 'git.fetch')}
        </Button>
        <div role="status">
          {busy && (
            <Text size="sm" c="dimmed">
              {t('git.fetching')}
            </Text>
          )}
          {!busy && !found && source.url.trim() !== '' && (
            <Text size="sm" c="dimmed">
              {t('git.notYet')}
            </Text>
          )}
        </div>
      </Group>
      {refused !== null && Object.keys(wrong).length === 0 && <ErrorState error={refused} compact />}
      {fetched.error !== null && source.fetch && <ErrorState error={fetched.error} compact />}
      {found && !busy && <Fetched found={found} />}
    </Stack>
  );
}

function Fetched({ found }: { found: CodeFetch }) {
  const { t } = useTranslation();
  if (found.problem) {
    const { title, detail, action } = problemWords(found.problem);
    return (
      <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} title={title} role="alert">
        <Text size="sm">{detail}</Text>
        <Text size="sm">{action}</Text>
      </Alert>
    );
  }
  const facts = [found.message, t('git.by', { author: found.author }), t('git.files', { count: found.files_count })];
  return (
    <Alert
      variant="light"
      icon={<IconGitCommit size={18} />}
      title={t('git.ready', { commit: found.commit.slice(0, 10) })}
      role="status"
    >
      <Text size="sm">{facts.join(' · ')}</Text>
      <CopyId value={found.commit} chars={40} />
      {found.submodules.length > 0 && (
        <Text size="sm">{t('git.submodules', { names: found.submodules.join(', ') })}</Text>
      )}
      {found.lfs.length > 0 && <Text size="sm">{t('git.lfs', { names: found.lfs.join(', ') })}</Text>}
    </Alert>
  );
}

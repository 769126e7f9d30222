import { ActionIcon, Autocomplete, Button, Group, Popover, Stack, Text } from '@mantine/core';
import { IconTag, IconX } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMay, useProject } from '@/shared/domain/project';
import { confirmUndo, notifyError, notifySuccess } from '@/shared/ui/undo';
import { AliasBadge } from './AliasBadge';
import { ALIAS_KEYS, aboutAlias, removeAlias, setAlias } from './queries';

const COMMON = ['production', 'candidate', 'staging'];
const NAME = /^[a-z][a-z0-9_.-]{0,62}$/;

export interface AliasEditorProps {
  model: string;
  number: number;
  aliases: string[];
}

/** The aliases of a version, to move here or to take away. Taking one away can be undone for a few seconds. */
export function AliasEditor({ model, number, aliases }: AliasEditorProps) {
  const { t } = useTranslation();
  const project = useProject();
  const client = useQueryClient();
  const mayChange = useMay('researcher');
  const [opened, setOpened] = useState(false);
  const [name, setName] = useState('');
  const [hidden, setHidden] = useState<string[]>([]);
  const refresh = () => Promise.all(ALIAS_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
  const add = async () => {
    try {
      await setAlias(project, model, name, number);
      notifySuccess(t('models.aliasSet', { alias: name, model, number }));
      setOpened(false);
      setName('');
    } catch (error) {
      notifyError(error);
    }
    void refresh();
  };
  const remove = (alias: string) => {
    setHidden((old) => [...old, alias]);
    const show = () => setHidden((old) => old.filter((one) => one !== alias));
    confirmUndo({
      message: t('models.aliasRemoving', { alias }),
      about: aboutAlias(project, model, alias),
      commit: async () => {
        await removeAlias(project, model, alias);
        await refresh();
        // Whoever sets it anew is to see it.
        show();
      },
      rollback: show,
    });
  };
  const shown = aliases.filter((alias) => !hidden.includes(alias));
  return (
    <Group gap={6}>
      {shown.map((alias) => (
        <Group key={alias} gap={0} wrap="nowrap">
          <AliasBadge name={alias} />
          {mayChange && (
            <ActionIcon
              size="xs"
              color="gray"
              aria-label={t('models.removeAlias', { alias })}
              onClick={() => remove(alias)}
            >
              <IconX size={12} />
            </ActionIcon>
          )}
        </Group>
      ))}
      {mayChange && (
        <Popover opened={opened} onChange={setOpened} trapFocus returnFocus withinPortal>
          <Popover.Target>
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<IconTag size={13} />}
              onClick={() => setOpened(!opened)}
            >
              {t('models.setAlias')}
            </Button>
          </Popover.Target>
          <Popover.Dropdown>
            <form
              onSubmit={(event) => {
                event.preventDefault();
                if (NAME.test(name)) void add();
              }}
            >
              <Stack gap="xs" w={260}>
                <Autocomplete
                  label={t('models.alias')}
                  data={COMMON.filter((one) => !shown.includes(one))}
                  value={name}
                  onChange={setName}
                  error={name !== '' && !NAME.test(name) ? t('models.badAlias') : undefined}
                  comboboxProps={{ withinPortal: false }}
                  data-autofocus
                />
                <Text size="xs" c="dimmed">
                  {t('models.aliasHint')}
                </Text>
                <Button type="submit" disabled={!NAME.test(name)}>
                  {t('models.pointHere', { number })}
                </Button>
              </Stack>
            </form>
          </Popover.Dropdown>
        </Popover>
      )}
    </Group>
  );
}

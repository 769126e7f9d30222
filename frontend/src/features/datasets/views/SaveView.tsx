import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBookmarkPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { notifySuccess } from '@/shared/ui/undo';
import { type Asked, asksSomething } from './asked';
import { ViewNameDialog } from './ViewNameForm';
import { useViewActions } from './viewQueries';

interface SaveViewProps {
  dataset: string;
  asked: Asked;
  onSaved: (name: string) => void;
}

/** Keeps what the page asks at the moment under a name. */
export function SaveView({ dataset, asked, onSaved }: SaveViewProps) {
  const { t } = useTranslation();
  const [opened, { open, close }] = useDisclosure();
  const { save } = useViewActions(dataset);
  if (!asksSomething(asked)) return null;
  const send = async (name: string) => {
    await save({ name, where: asked.where, prefix: asked.prefix });
    notifySuccess(t('views.saved', { name }));
    onSaved(name);
  };
  return (
    <>
      <Button size="xs" variant="default" leftSection={<IconBookmarkPlus size={14} />} onClick={open}>
        {t('views.save')}
      </Button>
      <ViewNameDialog
        opened={opened}
        title={t('views.saveTitle')}
        name=""
        query={[asked.prefix && t('views.below', { folder: asked.prefix }), asked.where].filter(Boolean).join('\n')}
        submit={t('views.saveSubmit')}
        send={send}
        onClose={close}
      />
    </>
  );
}

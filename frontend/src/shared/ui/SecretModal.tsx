import { Modal } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFocusBack } from './focusBack';

interface SecretModalProps<Created> {
  title: string;
  onClose: () => void;
  form: (onCreated: (created: Created) => void) => ReactNode;
  secret: (created: Created) => ReactNode;
}

/** First the form; then the secret (marked `data-secret`), which only a deliberate press closes. */
export function SecretModal<Created>({ title, onClose, form, secret }: SecretModalProps<Created>) {
  const { t } = useTranslation();
  useFocusBack();
  const [created, setCreated] = useState<{ value: Created } | null>(null);
  const body = useRef<HTMLDivElement>(null);
  // The button that was pressed is gone with the form; what comes next is to copy the secret.
  useEffect(() => {
    if (created) body.current?.querySelector<HTMLElement>('[data-secret] button')?.focus();
  }, [created]);
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={title}
      closeOnClickOutside={created === null}
      closeOnEscape={created === null}
      withCloseButton={created === null}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <div ref={body}>{created === null ? form((value) => setCreated({ value })) : secret(created.value)}</div>
    </Modal>
  );
}

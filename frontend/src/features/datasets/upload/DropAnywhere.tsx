import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { notifyError } from '@/shared/ui/undo';
import { type Chosen, droppedFiles } from './chosen';
import { handOver } from './session';
import classes from './upload.module.css';

interface DropAnywhereProps {
  /** Said while something is held over the page. */
  label: string;
  /** The search with which the upload page opens. */
  search: (chosen: Chosen) => { dataset?: string; branch?: string; folder?: string };
}

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

/** Lets a whole page take folders: the upload page goes on with what was dropped. The same can be done there by keyboard. */
export function DropAnywhere({ label, search }: DropAnywhereProps) {
  const navigate = useNavigate();
  const [over, setOver] = useState(false);
  useEffect(() => {
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      // Only when it leaves the window, not one element for the next.
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = async (event: DragEvent) => {
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      try {
        const chosen = await droppedFiles(event.dataTransfer);
        handOver(chosen);
        await navigate({ to: '/uploads', search: search(chosen) });
      } catch (error) {
        notifyError(error);
      }
    };
    const drop = (event: DragEvent) => void onDrop(event);
    window.addEventListener('dragover', onOver);
    window.addEventListener('dragleave', onLeave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', onOver);
      window.removeEventListener('dragleave', onLeave);
      window.removeEventListener('drop', drop);
    };
  }, [navigate, search]);
  if (!over) return null;
  return (
    <div className={classes.overlay}>
      <Text fw={600} size="lg">
        {label}
      </Text>
    </div>
  );
}

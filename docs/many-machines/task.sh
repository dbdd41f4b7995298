#!/bin/sh
# task.sh TASKS: does the task on the line with the number of this job in its array.
# Exit status 1 is a result in which expected values differ.
sed -n "${SLURM_ARRAY_TASK_ID}p" "$1" | sh || [ $? -eq 1 ]

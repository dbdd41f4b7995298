#!/bin/sh
# submit.sh SET SHARDS FOLDER [OPTION…]: replays a trace set as Slurm jobs, an array for each level of
# the plan. The options are those of `warpload plan`. The last job writes FOLDER/result.json.
set -eu
here=$(dirname "$0")
set=$1 shards=$2 folder=$3
shift 3

plan() {
    warpload plan "$set" --shards "$shards" -o "$folder" "$@"
}

mkdir -p "$folder"
plan "$@" --format json > "$folder/plan.jsonl"
last=$(tail -n 1 "$folder/plan.jsonl")
levels=$(printf '%s\n' "$last" | sed 's/.*"level":\([0-9]*\).*/\1/')
result=$(printf '%s\n' "$last" | sed 's/.*"output":"\([^"]*\)".*/\1/')

after=
for level in $(seq 0 "$levels"); do
    tasks=$folder/level-$level.txt
    plan "$@" --level "$level" > "$tasks"
    # Tasks skip what is done, so a job that Slurm starts again goes on.
    job=$(sbatch --parsable --requeue $after --array="1-$(wc -l < "$tasks")" \
        --cpus-per-task=1 --mem=4G --output="$folder/slurm-%A-%a.txt" "$here/task.sh" "$tasks")
    after=--dependency=afterok:$job
done
sbatch --parsable $after --output="$folder/slurm-%j.txt" --wrap="cp '$result' '$folder/result.json'"

# Stands in for Oban, its telemetry and Jason, as far as the handler of docs/how-to/oban.md uses
# them. Arguments: the handler's file and the spool directory. Prints nothing.
defmodule Jason do
  def encode!(value), do: IO.iodata_to_binary(write(value))

  defp write(%{} = map) do
    ["{", Enum.map_intersperse(map, ",", fn {k, v} -> [write(to_string(k)), ":", write(v)] end), "}"]
  end

  defp write(list) when is_list(list), do: ["[", Enum.map_intersperse(list, ",", &write/1), "]"]
  defp write(nil), do: "null"
  defp write(value) when is_boolean(value) or is_number(value), do: to_string(value)
  defp write(value) when is_atom(value), do: write(to_string(value))

  defp write(text) when is_binary(text) do
    ["\"", for(<<c::utf8 <- text>>, do: if(c in [?", ?\\], do: [?\\, c], else: <<c::utf8>>)), "\""]
  end
end

defmodule :telemetry do
  def attach_many(id, events, function, config) do
    for event <- events, do: :persistent_term.put({:handler, event}, {id, function, config})
    :ok
  end

  # As the real one: a handler that raises is detached for good.
  def execute(event, measurements, metadata) do
    case :persistent_term.get({:handler, event}, nil) do
      nil -> IO.puts("nobody listens to #{inspect(event)}")
      {_, function, config} -> call(event, function, measurements, metadata, config)
    end
  end

  defp call(event, function, measurements, metadata, config) do
    function.(event, measurements, metadata, config)
  catch
    _, reason ->
      IO.puts("detached: #{inspect(reason)}")
      :persistent_term.erase({:handler, event})
  end
end

defmodule Oban.Job do
  defstruct [:id, :worker, :args, :unique, queue: "default", state: "available", meta: %{}, conflict?: false]
end

defmodule Ecto.Changeset do
  defstruct data: nil, changes: %{}
end

[handler, spool] = System.argv()
source = handler |> File.read!() |> String.replace("/var/spool/counterfoil", spool)
Code.compile_string(source)
apply(MyApp.Counterfoil, :attach, [])

unique = %{fields: [:args, :worker], keys: [:account], period: 300, timestamp: :scheduled_at,
           states: ~w(suspended available scheduled executing retryable completed)a}
whole = %{unique | fields: [:args, :meta], keys: [], period: :infinity, states: [:available]}
asked = %{worker: "MyApp.Mailer", queue: "mail", args: %{account: 9, blob: %{"t2b64" => "AAA="}}, unique: unique}
call = %{scope: "exec_a1", invoke_id: "resolve", macrostep: 4, state_index: 3, invoke_index: 0,
         handler: "Elixir.Acme.ResolveHandler", type: "acme:resolve", params: %{"t2b64" => "AAAA"}}
keys = fn keys -> %{fields: [:worker, :args], keys: keys, period: :infinity, states: [:available], timestamp: :inserted_at} end

insert = fn changes, job ->
  meta = %{job: struct(Oban.Job, Map.merge(changes, job)), changeset: struct(Ecto.Changeset, data: struct(Oban.Job), changes: changes)}
  :telemetry.execute([:oban, :engine, :insert_job, :stop], %{duration: 1}, meta)
end

insert.(asked, %{id: 7})
insert.(asked, %{id: 7, conflict?: true, state: "executing"})
insert.(asked, %{id: 7, conflict?: true, state: "completed"})
insert.(asked, %{id: nil, conflict?: true})
insert.(%{asked | unique: whole}, %{id: 8})
insert.(Map.delete(asked, :unique), %{id: 9})

invoke = %{worker: "StatifierOban.Invoke.Worker", queue: "invokes", args: call, unique: keys.([:scope, :invoke_id, :macrostep])}
insert.(invoke, %{id: 101})
insert.(invoke, %{id: 101, conflict?: true, state: "executing"})
insert.(%{invoke | unique: keys.([:scope, :invoke_id])}, %{id: 102, conflict?: true, state: "completed"})

child = %{invoke | worker: "StatifierOban.Invoke.ChildStartWorker", args: Map.put(call, :index, 1),
          unique: keys.([:scope, :invoke_id, :macrostep, :index])}
insert.(child, %{id: 121, conflict?: true, state: "available"})
timer = %{worker: "StatifierOban.Timer.Worker", queue: "timers", args: %{scope: "exec_a1", ordinal: 7, send_id: "nudge"},
          unique: keys.([:scope, :ordinal])}
insert.(timer, %{id: 113, conflict?: true, state: "scheduled"})

all = %{jobs: [struct(Oban.Job, Map.put(asked, :id, 11)), struct(Oban.Job, Map.put(invoke, :id, 12))]}
:telemetry.execute([:oban, :engine, :insert_all_jobs, :stop], %{}, all)

gone = fn ids -> Enum.map(ids, &%{id: &1, queue: "mail", state: "completed"}) end
:telemetry.execute([:oban, :plugin, :stop], %{}, %{plugin: Oban.Pruner, pruned_jobs: gone.([97, 98])})
:telemetry.execute([:oban, :plugin, :stop], %{}, %{plugin: Oban.Lifeline, rescued_jobs: gone.([5]), discarded_jobs: gone.([6])})
:telemetry.execute([:oban, :plugin, :stop], %{}, %{plugin: Oban.Pruner, pruned_jobs: []})

point = Map.take(call, [:scope, :invoke_id, :macrostep])
told = fn kind, name, measured, meta -> :telemetry.execute([:statifier_oban, kind, name], Map.put(measured, :system_time, 1), meta) end
told.(:invoke, :enqueued, %{}, Map.merge(point, %{conflict?: false, job_id: 101}))
told.(:invoke, :delivered, %{}, Map.put(point, :job_id, 101))
told.(:invoke, :discarded, %{}, Map.merge(point, %{job_id: 101, reason: :terminated}))
told.(:invoke, :failed, %{}, Map.merge(point, %{job_id: 101, reason: :run_failed}))
told.(:invoke, :cancelled, %{count: 2}, Map.take(point, [:scope, :invoke_id]))
for name <- [:enqueue_rejected, :fan_out, :child_started, :unstarted_cancelled, :deferred], do: told.(:invoke, name, %{}, Map.put(point, :job_id, 124))
told.(:timer, :scheduled, %{delay_ms: 5}, %{scope: "exec_a1", ordinal: 7, send_id: "nudge", job_id: 113})
for name <- [:fired, :discarded], do: told.(:timer, name, %{}, %{scope: "exec_a1", ordinal: 7, send_id: "nudge", job_id: 113})
told.(:timer, :cancelled, %{count: 0}, %{scope: "exec_a1", send_id: "nudge"})
told.(:timer, :schedule_rejected, %{}, %{scope: nil, reason: :invalid_scope})

# What cannot be read is dropped and counted, and the next event is told all the same.
insert.(%{asked | args: %{account: {:a, :tuple}}}, %{id: 13})
insert.(Map.delete(asked, :unique), %{id: 14})
apply(MyApp.Counterfoil, :minute, [])
